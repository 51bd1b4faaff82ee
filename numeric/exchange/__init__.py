"""Exchange with other programs: layers, models and functions as ONNX (`export`), and ONNX as layers (`lifted_graph`).

Nothing is imported here: lifting takes longer to import than exporting does.
"""
