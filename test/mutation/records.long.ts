import { proveCaught } from './prove.ts';
import { RECORD_MUTATIONS } from './records-mutations.ts';

await proveCaught(RECORD_MUTATIONS);
