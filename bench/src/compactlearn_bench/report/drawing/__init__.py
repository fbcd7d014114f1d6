"""Results as figures: strings of SVG, from single elements to the charts of a whole report."""
