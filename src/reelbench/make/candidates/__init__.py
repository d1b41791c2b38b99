"""Videos that rows may be made of: catalogues of them, searches by keyword, downloads."""
