/* Before the first paint: the theme chosen earlier. A file of its own, so that the content policy needs no exception. */
try {
  const theme = localStorage.getItem('faultline.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage switched off: the page follows the system.
}
