/**
 * The parts of exploring, and the screens beside it, that are loaded when the first of them is needed. They are one
 * file: loaded each by itself they would cut what a page begins with into more pieces, which are larger together.
 */

// biome-ignore lint/performance/noBarrelFile: it is what is loaded later
export { Analytics } from './analytics/analytics.tsx';
export { Differences } from './differences/differences.tsx';
export { EventPage } from './event/event-page.tsx';
export { BarsTable } from './explore/bars-table.tsx';
export { ColumnHead } from './explore/column-head.tsx';
export { Context } from './explore/context.tsx';
export { EventView } from './explore/event.tsx';
export { LiveView } from './explore/live-view.tsx';
export { Nothing } from './explore/nothing.tsx';
export { Statistics } from './explore/statistics.tsx';
export { TakeAway } from './explore/take-away.tsx';
export { ViewParts } from './views/view-panel.tsx';
