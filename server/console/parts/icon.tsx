/** Shapes of the icons, drawn by strokes in a square of 24. */
const SHAPES = {
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM20 20l-4-4',
  chart: 'M4 4v16h16M8 16v-5M12.5 16V7M17 16v-7',
  live: 'M12 12h.01M8.5 15.5a5 5 0 0 1 0-7M15.5 8.5a5 5 0 0 1 0 7M5.6 18.4a9 9 0 0 1 0-12.8M18.4 5.6a9 9 0 0 1 0 12.8',
  key: 'M14.5 9.5a4 4 0 1 0-3.4 4L13 15.5h2v2h2v2h3v-3l-5.6-5.6M9 9h.01',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14a6.5 6.5 0 0 1 3.5 6',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  send: 'M4 12h13M12 6l6 6l-6 6M20 4v16',
  book: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11',
  clock: 'M12 4a8 8 0 1 0 0 16a8 8 0 0 0 0-16zM12 8v4l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  copy: 'M9 9h10v11H9zM6 15H5V4h10v2',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  down: 'M6 9l6 6l6-6',
  right: 'M9 6l6 6l-6 6',
  up: 'M6 15l6-6l6 6',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  refresh: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  eye: 'M2.5 12S6 5.5 12 5.5S21.5 12 21.5 12S18 18.5 12 18.5S2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  gear: 'M4 7h9M17 7h3M13 5h4v4h-4zM4 17h3M11 17h9M7 15h4v4h-4z',
  pulse: 'M3 12h4l3-7l4 14l3-7h4',
  sun: 'M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M19 5l-1.5 1.5M6.5 17.5L5 19',
  help: 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.5h.01',
  out: 'M14 4H5v16h9M10 12h10M17 8l4 4l-4 4',
  columns: 'M4 5h16v14H4zM9.5 5v14M15 5v14',
  download: 'M12 4v11M7 11l5 5l5-5M5 20h14',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15.5L12.5 18l2.5 2.5M4 18h5',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  context: 'M4 5h16M4 9h9M4 15h9M4 19h16M17 10v4',
  view: 'M6 4h12v16l-6-4.5L6 20z',
  warning: 'M12 4L2.5 20h19zM12 10v4M12 17h.01',
  columnDown: 'M12 5v14M6 13l6 6l6-6',
} as const;

/** Name of an icon. */
export type IconName = keyof typeof SHAPES;

/** An icon beside a text or in a button that has a label: nothing for screen readers. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** The mark of Logseam: layers with a seam. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path class="mark-layer" d="M3 5h18v3.2H3zM3 15.8h18V19H3z" />
      <path
        class="mark-seam"
        d="M3 10.2h5.5l2-1.2l3 4.4l2-1.6H21v2.2h-4.8l-3 2.2l-3-4.4l-1 .6H3z"
      />
    </svg>
  );
}
