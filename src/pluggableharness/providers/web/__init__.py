"""The web provider: fetching pages, asking search engines, sending requests."""
