import { DEFINITION_SCHEMAS } from '../admin/definition-schema.ts';
import {
  aggregateReply,
  attributesReply,
  completeReply,
  discoverReply,
  executeReply,
  facetsReply,
  groupsReply,
} from '../openapi/reply-schema.ts';
import { aggregateEvents } from '../read/aggregate.ts';
import { executeAnalysis } from '../read/analyses.ts';
import { discoverAttributes } from '../read/attributes.ts';
import { completeSearch } from '../read/complete.ts';
import { discoverFieldsMetrics, discoverGroups } from '../read/discover.ts';
import { executeBody } from '../read/execute-schema.ts';
import { discoverFacets } from '../read/facets.ts';
import { BODY_SCHEMAS, text } from '../schema.ts';
import { ANALYSIS_EXAMPLES } from './examples/analysis.ts';
import { type ApiParameter, BODY_REFUSALS, json, QUERY_ID, QUERY_REFUSALS } from './operation.ts';
import type { ReadRoute } from './route.ts';

const POST = { method: 'post', access: 'reader' } as const;
const ANALYSIS = { name: 'analysis_id', in: 'path', about: 'The id of a saved analysis.' } as const;
const EXECUTE = {
  path: '/beta/saved_analyses/{analysis_id}/execute',
  tag: 'Analyses',
  access: 'reader',
  replies: json(executeReply),
} as const;
const executed = executeBody.properties;
const time = executed.time.properties;

const EXECUTE_PARAMETERS: readonly ApiParameter[] = [
  { ...ANALYSIS, schema: text() },
  { name: 'from', in: 'query', about: 'Replaces that of the saved time.', schema: time.from },
  { name: 'to', in: 'query', about: 'Replaces that of the saved time.', schema: time.to },
  { name: 'timezone', in: 'query', about: 'The zone of the range.', schema: time.timezone },
  { name: 'offset', in: 'query', about: 'East of UTC, without a zone.', schema: time.offset },
  { name: 'limit', in: 'query', about: 'Rows at most.', schema: executed.limit },
  {
    ...{ name: 'field.from', in: 'query' },
    about: 'Events of a list view that are left out before the page.',
    schema: executed['field.from'],
  },
  { name: 'format', in: 'query', about: 'Names, colours, texts.', schema: executed.format },
  QUERY_ID,
];

/** Numbers about events, and analyses that were saved. */
export const ANALYSIS_ROUTES: readonly ReadRoute[] = [
  {
    ...{ ...POST, id: 'aggregateEvents', path: '/beta/events/aggregate', tag: 'Analyses' },
    summary: 'Metrics in buckets of events',
    about: 'groupBys nest: the top buckets of the first, inside each those of the second.',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.aggregate),
    replies: json(aggregateReply),
    refusals: QUERY_REFUSALS,
    answer: aggregateEvents,
    examples: ANALYSIS_EXAMPLES.aggregateEvents,
  },
  {
    ...{ ...EXECUTE, id: 'executeAnalysis', method: 'post' },
    summary: 'Executes a saved analysis',
    about: 'What the body does not have is as it was saved.',
    parameters: [{ ...ANALYSIS, schema: text() }, QUERY_ID],
    bodies: json(executeBody),
    isBodyOptional: true,
    refusals: [...QUERY_REFUSALS, 404],
    answer: executeAnalysis,
    examples: ANALYSIS_EXAMPLES.executeAnalysis,
  },
  {
    ...{ ...EXECUTE, id: 'executeAnalysisByParameters', method: 'get' },
    summary: 'Executes a saved analysis; what is asked of it stands in the query',
    parameters: EXECUTE_PARAMETERS,
    refusals: [400, 404, 409, 429, 503],
    answer: executeAnalysis,
    examples: ANALYSIS_EXAMPLES.executeAnalysisByParameters,
  },
];

const DISCOVERY = { ...POST, tag: 'Discovery' } as const;

/** Operations of discovery. */
export const DISCOVERY_ROUTES: readonly ReadRoute[] = [
  {
    ...{ ...DISCOVERY, id: 'discoverGroups', path: '/beta/discover/groups' },
    summary: 'All groups of fields and metrics',
    bodies: json(DEFINITION_SCHEMAS.discoverGroups),
    isBodyOptional: true,
    replies: json(groupsReply),
    refusals: BODY_REFUSALS,
    answer: discoverGroups,
    examples: ANALYSIS_EXAMPLES.discoverGroups,
  },
  {
    ...{ ...DISCOVERY, id: 'discoverFieldsMetrics', path: '/beta/discover/fields_metrics' },
    summary: 'Fields and metrics',
    bodies: json(DEFINITION_SCHEMAS.discover),
    replies: json(discoverReply),
    refusals: BODY_REFUSALS,
    answer: discoverFieldsMetrics,
    examples: ANALYSIS_EXAMPLES.discoverFieldsMetrics,
  },
  {
    ...{ ...DISCOVERY, id: 'discoverAttributes', path: '/beta/discover/attributes' },
    summary: 'The attributes that events have, and their most frequent values',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.attributes),
    replies: json(attributesReply),
    refusals: QUERY_REFUSALS,
    answer: discoverAttributes,
    examples: ANALYSIS_EXAMPLES.discoverAttributes,
  },
  {
    ...{ ...DISCOVERY, id: 'discoverFacets', path: '/beta/discover/facets' },
    summary: 'The most frequent values of some attributes',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.facets),
    replies: json(facetsReply),
    refusals: QUERY_REFUSALS,
    answer: discoverFacets,
    examples: ANALYSIS_EXAMPLES.discoverFacets,
  },
  {
    ...{ ...DISCOVERY, id: 'completeSearch', path: '/beta/discover/complete' },
    summary: 'What may stand at a place of a search',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.complete),
    replies: json(completeReply),
    refusals: QUERY_REFUSALS,
    answer: completeSearch,
    examples: ANALYSIS_EXAMPLES.completeSearch,
  },
];
