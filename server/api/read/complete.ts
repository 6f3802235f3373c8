import { must } from '../../../engine/base/assert.ts';
import type { AggregateQuery } from '../../../engine/engine.ts';
import {
  completionText,
  type DeclaredId,
  startsWithTyped,
  type Typing,
  tagSuggestions,
  typingAt,
} from '../../language/complete.ts';
import { allOf } from '../../language/filter.ts';
import { SearchError } from '../../language/lexer.ts';
import { type Expectation, expectedAfter } from '../../language/search.ts';
import type { TimeRange } from '../../language/time.ts';
import type { NameSource, ValueSource } from '../../query/job.ts';
import { ApiError, answerReply, type Reply, resultReply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkCompleteBody } from '../schema.ts';
import { rangeOf } from '../selection.ts';

const SUGGESTIONS_DEFAULT = 10;
/** Attributes among which names are looked for. */
const NAMES_MAX = 10_000;
/** An event that is found by an element of an array has others, which take places among the first. */
const VALUES_SPARE = 100;

/**
 * `POST /beta/discover/complete`: what may stand at a place of a search that is being typed. There is nothing where
 * what stands before is malformed. Source: INTERFACE.md 4.5.
 */
export async function completeSearch(context: ReadContext): Promise<Reply> {
  const { query, position = query.length, time, limit } = checkCompleteBody(context.body);
  if (position > query.length) {
    throw new ApiError(400, `position ${position} is not allowed; allowed: 0 to ${query.length}`);
  }
  const range = rangeOf(time, context.nowMs);
  const expectation = expectationOf(query.slice(0, position), context);
  if (expectation === undefined) {
    return resultReply(JSON.stringify({ from: position, to: position, suggestions: [] }));
  }
  const typing = typingAt(query, position, expectation, limit ?? SUGGESTIONS_DEFAULT);
  const { subject, caret } = expectation;
  if (caret.place === 'to' || caret.place === 'close')
    return resultReply(completionText(typing, []));
  if (subject?.type === 'tagset') {
    const tags = caret.place === 'any' ? (tagsOf(context, subject.id) ?? []) : [];
    return resultReply(completionText(typing, tagSuggestions(typing, tags)));
  }
  const from =
    subject === undefined
      ? namesOf(context, range)
      : valuesOf(context, range, subject.paths, typing);
  const answer = await context.run({ type: 'complete', typing, from });
  return answerReply(must(answer, 'answer of a completion'));
}

function expectationOf(begun: string, { resolver }: ReadContext): Expectation | undefined {
  try {
    return expectedAfter(begun, (name) => resolver.field(name));
  } catch (error) {
    if (error instanceof SearchError) return undefined;
    throw error;
  }
}

function tagsOf({ resolver }: ReadContext, id: string): { id: string; name: string }[] | undefined {
  const field = resolver.field(id);
  if (field?.type !== 'tagset') return undefined;
  return field.tags.map((tag) => ({ id: tag.id, name: tag.name }));
}

function namesOf({ definitions, key }: ReadContext, { fromMs, toMs }: TimeRange): NameSource {
  const declared: DeclaredId[] = [
    ...definitions.list('tagsets').map(({ id, name }) => ({ id, name })),
    ...definitions.list('fields').map(({ id, name, attribute }) => ({ id, name, attribute })),
  ];
  return {
    type: 'names',
    query: { fromMs, toMs, predicate: key.filter, limit: NAMES_MAX },
    declared,
  };
}

function valuesOf(
  { key }: ReadContext,
  { fromMs, toMs }: TimeRange,
  paths: readonly string[],
  { typed, limit }: Typing,
): ValueSource {
  const queries = paths.map(
    (path): AggregateQuery => ({
      fromMs,
      toMs,
      predicate: allOf([key.filter, startsWithTyped(path, typed)]),
      computes: [{ type: 'metric', metric: { type: 'core' } }],
      groupBys: [
        {
          type: 'field',
          path,
          limit: limit + VALUES_SPARE,
          order: { by: { type: 'core' }, direction: 'desc' },
          total: false,
        },
      ],
    }),
  );
  return { type: 'values', queries };
}
