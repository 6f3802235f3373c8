// Runs before the first paint and before any other script.

// A chosen theme must not flash.
try {
  const chosen = localStorage.getItem('logseam.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing has the system's theme.
}

// Under a POSIX locale a browser's language is no language tag, which uPlot gives to Intl when it is loaded.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
