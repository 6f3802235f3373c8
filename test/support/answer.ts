import { finished } from '../../engine/base/pause.ts';
import { writeAnswer } from '../../server/query/answer/answer.ts';
import type { AnswerPieces } from '../../server/query/answer/answer-writer.ts';
import type { JobAnswer } from '../../server/query/job.ts';

/** The text of an answer. */
export function textOf(answer: Exclude<JobAnswer, undefined>): string;
export function textOf(answer: JobAnswer): string | undefined;
export function textOf(answer: JobAnswer): string | undefined {
  return answer === undefined ? undefined : Buffer.concat(answer).toString();
}

/** An answer of these texts, a piece each. */
export function piecesOf(...texts: string[]): AnswerPieces {
  return texts.map((text) => new TextEncoder().encode(text));
}

/** The output of `writeAnswer`, as text. */
export function answerJob(...written: Parameters<typeof writeAnswer>): string | undefined {
  return textOf(finished(writeAnswer(...written)));
}
