/**
 * Puts text on the clipboard. Browsers keep the modern way for https and loopback; an installation reached by plain
 * http in a local network falls back to the old one. Returns whether it worked.
 */
export async function copyText(text: string): Promise<boolean> {
  // The type says it is always there; on plain http it is not.
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (clipboard !== undefined) {
    try {
      await clipboard.writeText(text)
      return true
    } catch {
      // Permission refused: the old way may still work.
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Inside an open dialog everything else is inert and cannot be selected.
  const home = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  home.append(area)
  area.select()
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without a secure context
  const done = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return done
}
