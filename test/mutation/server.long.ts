import { proveCaught } from './prove.ts';
import { SERVER_MUTATIONS } from './server-mutations.ts';

await proveCaught(SERVER_MUTATIONS);
