/**
 * Copies a text to the clipboard. Over plain http, where the clipboard API is missing, it uses `execCommand`.
 * @returns whether it worked
 */
export async function copyText(text: string): Promise<boolean> {
  // The type does not tell that it is missing over plain http.
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (clipboard !== undefined) {
    try {
      await clipboard.writeText(text)
      return true
    } catch {
      // Permission denied: `execCommand` may still work.
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Everything outside an open dialog is inert and cannot be selected.
  const home = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  home.append(area)
  area.select()
  // oxlint-disable-next-line typescript/no-deprecated -- the only API without a secure context
  const done = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return done
}
