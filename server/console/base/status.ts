/** The tagset by which events are coloured; a service has it from its first start. */
export const STATUS = 'log_status';

/** Its tags: how a row has them, and their colours unless others are chosen. The theme has its own for those. */
export const STATUSES: Readonly<Record<string, { short: string; color: string }>> = {
  critical: { short: 'CRIT', color: '#b3115b' },
  error: { short: 'ERR', color: '#c0322a' },
  warn: { short: 'WARN', color: '#9a6a00' },
  info: { short: 'INFO', color: '#2f6db3' },
  ok: { short: 'OK', color: '#2b7a4b' },
};

/**
 * A colour for style sheets: one of the theme by its name, or a chosen one, which is darker or lighter where it would
 * not be seen on the theme's surface. Source: WCAG 2.2, 1.4.11, 3:1.
 */
export function cssColour(colour: string): string {
  if (!colour.startsWith('#')) return `var(--${colour})`;
  return `light-dark(oklch(from ${colour} min(l,.62) c h),oklch(from ${colour} max(l,.58) c h))`;
}
