/** The screens of setting up, logging in and one's own account, which are loaded together: see `explore-parts.ts`. */

// biome-ignore lint/performance/noBarrelFile: it is what is loaded later
export { Account } from './login/account.tsx';
export { Login } from './login/login.tsx';
export { Setup } from './setup/setup.tsx';
