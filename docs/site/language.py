"""The language of each page, for MkDocs: browsers choose the shape of letters by it, and screen readers the voice."""

from typing import Any

CHINESE = "zh-CN"
"""What the paths of Chinese pages have in them."""


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Say in the page that it is in Chinese, if it is; the theme knows one language for all."""
    return output.replace('<html lang="en"', f'<html lang="{CHINESE}"', 1) if CHINESE in page.file.src_uri else output
