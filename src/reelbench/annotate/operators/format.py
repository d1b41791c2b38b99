"""The properties of a file: size, duration, frame rate, sound. Nothing is decoded for it."""

from dataclasses import asdict, dataclass

from reelbench.annotate.operator import Clip, Labels, Operator, Value


@dataclass(frozen=True)
class Format(Operator):
    """Lists the properties of a clip.

    Width and height are those of the upright picture, 0 where there is none; ``seconds`` is to the
    end of the last packet that is really there, and ``cut`` says so where more was declared.
    """

    name = "format"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the properties of a clip."""
        info = clip.info
        return {
            "container": info.format,
            "seconds": round(info.duration, 4),
            "cut": info.cut,
            "codec": info.codec,
            "width": info.width,
            "height": info.height,
            "rotation": info.rotation,
            "frame_rate": round(info.frame_rate, 4),
            "frames": info.frame_count,
            "pixel_aspect": round(info.pixel_aspect, 4),
            "pixel_format": info.pixel_format,
            "colour_space": info.colour_space,
            "colour_range": info.colour_range,
            "bit_depth": info.bit_depth,
            "is_image": info.is_image,
            "audio": [asdict(track) for track in info.audio],
        }
