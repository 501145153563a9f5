/* Before the first paint: what Appearance stored. A file of its own, so that the content policy needs no exception. */
try {
  const { dataset } = document.documentElement
  const theme = localStorage.getItem('faultline.theme')
  if (theme === 'light' || theme === 'dark') dataset.theme = theme
  if (localStorage.getItem('faultline.density') === 'compact') dataset.density = 'compact'
  if (localStorage.getItem('faultline.motion') === 'reduced') dataset.motion = 'reduced'
} catch {
  // Storage switched off: the page follows the system.
}
