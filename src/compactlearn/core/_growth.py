"""How far a compressed file may expand before it is taken for an attack."""

from dataclasses import dataclass

__all__ = ["Growth"]


@dataclass(frozen=True)
class Growth:
    """The most that may come out of a compressed file.

    Parameters
    ----------
    ratio : int
        Expanded bytes per stored byte; looked at once `free` bytes have come out.
    total : int
        Expanded bytes in all.
    free : int
        So much may come out of any file.

    Examples
    --------
    >>> Growth(ratio=10, free=100).exceeded(1001, 100), Growth(ratio=10).exceeded(1001, 100)
    (True, False)
    """

    ratio: int = 1000
    total: int = 1 << 34
    free: int = 1 << 26

    def exceeded(self, expanded: int, stored: int) -> bool:
        """Whether `expanded` bytes are too many for a file of `stored` bytes.

        Parameters
        ----------
        expanded, stored : int
            Bytes before and after the file was compressed.
        """
        return expanded > self.free and (expanded > self.total or expanded > self.ratio * stored)
