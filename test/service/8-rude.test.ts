import t from 'tap';
import { testRude } from '../support/rude.ts';

t.test('1,000 requests and lines that are cut or mean nothing leave nothing behind', (t) =>
  testRude(t, 1_000),
);
