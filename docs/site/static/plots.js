// Draws the figures of the gallery, in the colours of the theme, and again when the theme changes.
(function () {
  "use strict";

  function ground() {
    const style = getComputedStyle(document.body);
    return {
      text: style.getPropertyValue("--color-foreground-primary").trim(),
      faint: style.getPropertyValue("--color-foreground-muted").trim(),
      line: style.getPropertyValue("--color-background-border").trim(),
    };
  }

  function layoutFor(layout) {
    const colours = ground();
    const axis = {
      gridcolor: colours.line,
      linecolor: colours.line,
      zerolinecolor: colours.line,
      automargin: true,
    };
    const clear = "rgba(0,0,0,0)";
    const found = Object.assign({}, layout, {
      template: undefined,
      paper_bgcolor: clear,
      plot_bgcolor: clear,
      autosize: true,
      height: 420,
      margin: { l: 56, r: 16, t: 24, b: 56 },
      colorway: ["#c8552b", "#2f7fb8", "#5f9e4f", "#9b6bb3"],
      font: { color: colours.text, family: getComputedStyle(document.body).fontFamily },
      legend: Object.assign({ orientation: "h", y: 1.02, yanchor: "bottom" }, layout.legend),
    });
    found.xaxis = Object.assign({}, layout.xaxis, axis);
    found.yaxis = Object.assign({}, layout.yaxis, axis);
    found.shapes = (layout.shapes || []).map((shape) =>
      Object.assign({}, shape, { line: Object.assign({}, shape.line, { color: colours.faint }) })
    );
    return found;
  }

  function draw(place) {
    const { data, layout } = place.figure;
    Plotly.react(place, data, layoutFor(layout || {}), { displayModeBar: false, responsive: true });
  }

  document.addEventListener("DOMContentLoaded", function () {
    const places = Array.from(document.querySelectorAll("div.plot"));
    for (const place of places) {
      const source = place.querySelector("script");
      place.figure = JSON.parse(source.textContent);
      source.remove();
      draw(place);
    }
    const again = () => places.forEach(draw);
    new MutationObserver(again).observe(document.body, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  });
})();
