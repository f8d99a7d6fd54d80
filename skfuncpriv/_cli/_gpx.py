"""GPX files: track points in, a private track out.

A document type, which could define entities that grow without bound, is refused, and so
are tracks within tracks, whose points would be read again and again. Names of tracks
are public, nothing else of a file is quoted.
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
_PATH = ("trk", "trkseg", "trkpt")  # each a child of the one before, the first of gpx
_NESTED = (
    "the points of a GPX file must be gpx/trk/trkseg/trkpt, and tracks, segments and "
    "points may be nowhere else"
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
    root = _parse(path)
    _check_places(root)
    for number, track in enumerate(_children(root, "trk"), start=1):
        name = _text(track, "name") or f"track {number}"
        for segment in _children(track, "trkseg"):
            for point in _children(segment, "trkpt"):
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
    if root is None or _name(root) != "gpx":
        raise CommandError(_NO_GPX)
    return root


def _check_places(root: ET.Element) -> None:
    """Refuse tracks, segments and points that are not where GPX has them."""
    placed, level = 0, [root]
    for name in _PATH:
        level = [child for parent in level for child in _children(parent, name)]
        placed += len(level)
    if sum(_name(element) in _PATH for element in root.iter()) != placed:
        raise CommandError(_NESTED)


def _children(parent: ET.Element, name: str) -> Iterable[ET.Element]:
    """The children of `parent` with this name, in any namespace."""
    return (child for child in parent if _name(child) == name)


def _text(parent: ET.Element, name: str) -> str:
    """The text of the first child with this name."""
    for child in _children(parent, name):
        return (child.text or "").strip()
    return ""


def _name(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"
