// The texts of the page that stand out too little: less than 4.5, WCAG's contrast. See test_stepper_page.py.
() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color, under) => {
    context.fillStyle = under; context.fillRect(0, 0, 1, 1);
    context.fillStyle = color; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;
  const light = (c) => { const [r, g, b] = c.map((v) => (v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4)); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = (one) => (one === null ? [255, 255, 255] : rgb(getComputedStyle(one).backgroundColor, css(behind(one.parentElement))));
  const found = [];
  for (const one of document.querySelectorAll("body *:not(svg *):not(script):not(noscript):not(option)")) {
    if (![...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || one.closest(":disabled, [hidden], .unseen") || !one.getClientRects().length) continue;
    const back = behind(one); const front = rgb(getComputedStyle(one).color, css(back));
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) found.push(`${one.tagName}.${one.className} ${one.textContent.slice(0, 20)} ${((a + .05) / (b + .05)).toFixed(2)}`);
  }
  return found;
}
