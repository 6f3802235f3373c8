/** The screens of administrators, which are loaded together: see `explore-parts.ts`. */

// biome-ignore lint/performance/noBarrelFile: it is what is loaded later
export { Audit } from './audit/audit.tsx';
export { Health } from './health/health.tsx';
export { Keys } from './keys/keys.tsx';
export { Send } from './send/send.tsx';
export { Settings } from './settings/settings.tsx';
export { Users } from './users/users.tsx';
