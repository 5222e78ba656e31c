"""Shares of a total, in whole cents."""


def shares(total: int, weights: list[int]) -> list[int]:
    """Split a total by weights; what does not divide goes to the first."""
    parts = [total * weight // sum(weights) for weight in weights]
    parts[0] += total - sum(parts)
    return parts
