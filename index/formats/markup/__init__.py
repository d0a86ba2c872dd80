"""Formats whose texts stand between tags: XML, Office's zipped XML, and HTML."""
