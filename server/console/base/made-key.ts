import { signal } from '@preact/signals';

/** The write key that was made last on this page: its text is nowhere else, and fills in what senders need. */
export const made = signal<{ name: string; key: string } | undefined>(undefined);
