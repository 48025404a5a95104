"""Pages as single HTML files: one kit (frame, markup, charts, heat maps, the attention view in static/) and one file a
page. Imports what stands below tasks/; to add a page, see docs/extend/page.md."""
