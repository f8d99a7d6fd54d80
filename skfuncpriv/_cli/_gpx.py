"""GPX files: track points in, a private track out.

A document type, which could define entities that grow without bound, is refused; names
of tracks are public, nothing else of a file is quoted.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from ._errors import CommandError
from ._tables import Table

_NAMESPACE = "http://www.topografix.com/GPX/1/1"
_NO_GPX = "the file is not GPX in UTF-8"
_DOCTYPE = (
    "the file has a <!DOCTYPE>, which GPX does not need and which could be harmful: "
    "remove it"
)


class Track(NamedTuple):
    """A released track: a public name or None, degrees, and public stamps or None."""

    name: str | None
    lon: Any
    lat: Any
    stamps: Any


def read_gpx(path: str) -> Table:
    """The points of all tracks, as columns track, time, lon and lat."""
    columns: dict[str, list[str]] = {"track": [], "time": [], "lon": [], "lat": []}
    for number, track in enumerate(_named(_parse(path), "trk"), start=1):
        name = _text(track, "name") or f"track {number}"
        for point in _named(track, "trkpt"):
            row = (name, _text(point, "time"), point.get("lon"), point.get("lat"))
            for column, cell in zip(columns.values(), row, strict=True):
                column.append((cell or "").strip())
    if not columns["lon"]:
        raise CommandError("the file holds no points of a track (trkpt)")
    return Table(columns)


def write_gpx(path: str, tracks: Iterable[Track], note: str) -> None:
    """Write tracks, with a note on what was promised."""
    ET.register_namespace("", _NAMESPACE)
    root = ET.Element(_tag("gpx"), version="1.1", creator="skfuncpriv")
    ET.SubElement(ET.SubElement(root, _tag("metadata")), _tag("desc")).text = note
    for track in tracks:
        element = ET.SubElement(root, _tag("trk"))
        if track.name is not None:
            ET.SubElement(element, _tag("name")).text = track.name
        segment = ET.SubElement(element, _tag("trkseg"))
        for i, (lon, lat) in enumerate(zip(track.lon, track.lat, strict=True)):
            place = {"lat": repr(float(lat)), "lon": repr(float(lon))}
            point = ET.SubElement(segment, _tag("trkpt"), place)
            if track.stamps is not None:
                ET.SubElement(point, _tag("time")).text = track.stamps[i]
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _parse(path: str) -> ET.Element:
    data, root = Path(path).read_bytes(), None
    try:
        text = data.decode("utf-8-sig")
        if "<!DOCTYPE" in text:
            raise CommandError(_DOCTYPE)
        root = ET.fromstring(text)  # of a text, so no other encoding can be declared
    except (UnicodeDecodeError, ET.ParseError):
        pass  # raised outside of the handler: its text may quote the file
    if root is None:
        raise CommandError(_NO_GPX)
    return root


def _named(parent: ET.Element, name: str) -> Iterable[ET.Element]:
    """All below `parent` with this name, in any namespace."""
    return (e for e in parent.iter() if str(e.tag).rpartition("}")[2] == name)


def _text(parent: ET.Element, name: str) -> str:
    """The text of the first child with this name."""
    for child in parent:
        if str(child.tag).rpartition("}")[2] == name:
            return (child.text or "").strip()
    return ""


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"
