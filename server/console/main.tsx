import { render } from 'preact';
import { App } from './app.tsx';
import { followLinks } from './base/address.ts';
import { listenForKeys } from './base/keyboard.ts';
import { watchExpiry } from './base/session.ts';
import { apply } from './base/theme.ts';
import './style/main.css';

apply();
followLinks();
listenForKeys();
watchExpiry();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
