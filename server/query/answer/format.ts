const SUFFIXES = ['', 'k', 'M', 'G', 'T'];
const STEP = 1000;
const ROUNDING = { maximumFractionDigits: 1, roundingMode: 'halfExpand' } as const;
const DECIMAL = new Intl.NumberFormat('en-US', { ...ROUNDING, useGrouping: false });
const SCIENTIFIC = new Intl.NumberFormat('en-US', { ...ROUNDING, notation: 'scientific' });

/** Colours that are told apart on light and dark grounds: hues around the circle, in three strengths. */
const HUES = 24;
const STRENGTHS: readonly [saturation: number, lightness: number][] = [
  [0.62, 0.5],
  [0.5, 0.4],
  [0.72, 0.6],
];

/**
 * Text of a metric's value for people: at most one decimal, halves rounded away from zero, `k`, `M`, `G` or `T` for
 * thousands and up (`1.2k`), an exponent beyond (`1.2e15`). What is missing is `-`. Source: INTERFACE.md 4.8.
 */
export function formatNumber(value: number | null): string {
  if (value === null) return '-';
  for (const [power, suffix] of SUFFIXES.entries()) {
    const text = DECIMAL.format(value / STEP ** power);
    if (Math.abs(Number(text)) < STEP) return `${Number(text) + 0}${suffix}`;
  }
  return SCIENTIFIC.format(value).toLowerCase();
}

/** The colour of a value, `#rrggbb`: the same for the same text in every reply. Source: INTERFACE.md 4.8. */
export function colorOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = (hash ^ (hash >>> 13)) >>> 0;
  const [saturation, lightness] = STRENGTHS[hash % STRENGTHS.length];
  const hue = (Math.floor(hash / STRENGTHS.length) % HUES) / HUES;
  const channels = [0, 8, 4].map((shift) => channel(hue, saturation, lightness, shift));
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** A channel, 0 to 255, of a colour in HSL. Source: CSS Color 4, section 7.1. */
function channel(hue: number, saturation: number, lightness: number, shift: number): number {
  const place = (shift + hue * 12) % 12;
  const strength = saturation * Math.min(lightness, 1 - lightness);
  const part = Math.max(-1, Math.min(place - 3, 9 - place, 1));
  return Math.round((lightness - strength * part) * 255);
}
