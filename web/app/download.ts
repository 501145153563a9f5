import type { MouseEvent } from 'react'
import { freshSession } from '../api/files.ts'
import { addToast } from '../ui/toasts.tsx'

type Download = {
  url: string
  filename: string
  /** Text of the toast when the session has ended. */
  failed: string
}

/** Downloads a file. The session is refreshed first, because an expired one would download an error page. */
export async function download(event: MouseEvent, { url, filename, failed }: Download): Promise<void> {
  // The press opens a new tab or window.
  if (event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  try {
    await freshSession()
  } catch {
    addToast({ text: failed, tone: 'bad' })
    return
  }
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
}

/** Downloads a text that only this page has. */
export function downloadText(filename: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
  // By then the browser reads it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
