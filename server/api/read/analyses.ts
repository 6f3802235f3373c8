import { must } from '../../../engine/base/assert.ts';
import { shown } from '../../language/shown.ts';
import { ApiError, type ApiRequest, answerReply, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { jobOfAnalysis } from './analysis-job.ts';
import { checkExecuteBody, type ExecuteBody } from './execute-schema.ts';

/** Parameters of GET besides the key. */
const TEXT_PARAMETERS: readonly string[] = ['from', 'to', 'timezone'];
const NUMBER_PARAMETERS: readonly string[] = ['offset', 'limit', 'field.from'];

/**
 * `POST` and `GET /beta/saved_analyses/<id>/execute`. A POST without a body needs no content type; what is not asked is
 * as it was saved. Throws or rejects with ApiError. Source: INTERFACE.md 4.7.
 */
export async function executeAnalysis(context: ReadContext): Promise<Reply> {
  const { request, id } = context;
  const asked = request.method === 'GET' ? bodyOfQuery(request) : checkExecuteBody(context.body);
  const analysis = context.definitions.get('saved_analyses', id);
  if (analysis === undefined) {
    throw new ApiError(404, `saved_analysis_id ${shown(id)}: there is no such saved analysis`);
  }
  const { resolver, nowMs, key, boundEvents } = context;
  const scope = { resolver, nowMs, filter: key.filter, boundEvents };
  const job = jobOfAnalysis(analysis, asked, scope);
  const answer = await context.run(job);
  return answerReply(must(answer, 'answer of a saved analysis'));
}

/** The body that a GET's parameters stand for. */
function bodyOfQuery(request: ApiRequest): ExecuteBody {
  if (request.body.length > 0) {
    throw new ApiError(
      400,
      `the body has ${request.body.length} bytes; allowed: none with GET, whose parameters stand in the query`,
    );
  }
  const time = new Map<string, unknown>();
  const body = new Map<string, unknown>();
  for (const [name, text] of request.query) {
    if (name === 'api_key') continue;
    const value = NUMBER_PARAMETERS.includes(name)
      ? numberOr(text)
      : name === 'format'
        ? flagOr(text)
        : text;
    const isTime = TEXT_PARAMETERS.includes(name) || name === 'offset';
    (isTime ? time : body).set(name, value);
  }
  if (time.size > 0) body.set('time', Object.fromEntries(time));
  return checkExecuteBody(Object.fromEntries(body));
}

/** The number that a text is, else the text, which is then refused as one. */
function numberOr(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function flagOr(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text;
}
