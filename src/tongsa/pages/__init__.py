"""Pages as single HTML files: one kit (frame, markup, charts, heat maps, the attention view in static/) and one file
per page. Imports only packages below tasks/; to add a page, see docs/extend/page.md."""
