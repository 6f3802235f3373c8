import { ACCOUNT_ROUTES } from './account.ts';
import { ADMIN_ROUTES } from './admin.ts';
import { ANALYSIS_ROUTES, DISCOVERY_ROUTES } from './analysis.ts';
import { EVENT_ROUTES, QUERY_ROUTES, TAIL_ROUTES } from './events.ts';
import { INPUT_ROUTES, OPERATION_ROUTES } from './input.ts';
import type { Route } from './route.ts';

/** All that can be asked of the service, in the order of its description. */
export const ROUTES: readonly Route[] = [
  ...INPUT_ROUTES,
  ...EVENT_ROUTES,
  ...TAIL_ROUTES,
  ...ANALYSIS_ROUTES,
  ...DISCOVERY_ROUTES,
  ...QUERY_ROUTES,
  ...ACCOUNT_ROUTES,
  ...ADMIN_ROUTES,
  ...OPERATION_ROUTES,
];
