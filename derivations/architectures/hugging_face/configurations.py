"""A `config.json` as a `Model`: its family reads its fields, and no field is ignored silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from derivations.architectures.description import Architecture, Model
from derivations.architectures.hugging_face.families import Family, families
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.stored import storage_of
from derivations.architectures.reading import read_json

__all__ = ["FAMILIES", "model_of", "read_config"]

FAMILIES: Mapping[str, Family] = families()


def read_config(path: str | Path, ignore: Sequence[str] = ()) -> Model:
    """Return the model that a `config.json` describes, named after its folder; the path may be that of the folder.

    Raises       ConfigError, one sentence with file and field, for a file that cannot be read or is not understood
    """
    path = Path(path)
    config = read_json(path)
    file = path.resolve() / "config.json" if path.is_dir() else path.resolve()
    name = file.parent.name if file.name == "config.json" else file.stem
    return model_of(config, name or "model", ignore, str(path))


def model_of(config: Mapping[str, object], name: str, ignore: Sequence[str] = (), place: str | None = None) -> Model:
    """Return the model that the fields of a configuration describe; `ignore` names fields to pass over.

    Raises       ConfigError, one sentence that begins with `place` (the name, unless given) and names the field
    """
    fields = Fields(config, place or name, ignore)
    model_type = fields.take("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        near = get_close_matches(str(model_type)[:60], FAMILIES, 1)
        known = f"did you mean {near[0]}" if near else f"known are {', '.join(FAMILIES)}"
        raise fields.error("model_type", f"is {shown(model_type)}, an unknown family of models; {known}")
    family = FAMILIES[model_type]
    storage = storage_of(fields, _inside(config))
    parts = family.read(fields, _head(fields, family))
    fields.finish()
    architecture = Architecture(name, parts.head, parts.encoder, parts.decoder, tower=parts.tower)
    source = f"model_type {model_type}"
    return Model(
        architecture,
        dict(fields.values),
        source,
        tuple(fields.assumptions),
        part=fields.part,
        storage=storage,
        names=parts.names or family.names,
        made_for=_made_for(config),
    )


def _made_for(config: Mapping[str, object]) -> int | None:
    """Return the context length that a model was trained for, or None if none is given.

    It sets no size of a model with rotary positions.
    """
    given = {**config, **_inside(config)}.get("max_position_embeddings")
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else None


def _inside(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the fields of the text model inside a multimodal model, if there is one."""
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else {}


def _head(fields: Fields, family: Family) -> str:
    """Return the head of the class that `architectures` names."""
    named = fields.take("architectures", None)
    if named is None or named == []:
        usual = next(iter(family.heads))
        fields.assumptions.append(f"architectures is not given: {usual}")
        return family.heads[usual]
    if not isinstance(named, list) or len(named) != 1 or named[0] not in family.heads:
        raise fields.error("architectures", f"is {shown(named)}; known are {', '.join(family.heads)}")
    return family.heads[named[0]]
