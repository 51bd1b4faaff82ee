"""Layers as ONNX graphs: the source of a layer is run once on traced arrays, whose operations become nodes."""
