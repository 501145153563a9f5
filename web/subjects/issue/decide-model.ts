import { isReleaseName } from '#shared/release-name.ts'
import type { Edit, Resolution } from './changes.ts'
import { decideTexts } from './decide-texts.ts'
import type { Ask } from './decide.tsx'

/** Typed text → a change of status, or an error. Pure. */

export type Decided = Extract<Edit, { kind: 'status' }> | { field: 'value' | 'window'; error: string }

const MAX_RELEASES = 20

export function parseDecision(ask: Ask, value: string, window: string, now: Date): Decided {
  const text = value.trim()
  switch (ask) {
    case 'release': {
      const names = text.split(',').map((name) => name.trim())
      if (names.length > MAX_RELEASES || !names.every(isReleaseName)) return wrong('value', decideTexts.wrong.release)
      const [first = ''] = names
      return resolve({ in_release: names.length === 1 ? first : names })
    }
    case 'commit':
      return /^[0-9a-f]{7,64}$/i.test(text)
        ? resolve({ in_commit: text.toLowerCase() })
        : wrong('value', decideTexts.wrong.commit)
    case 'time': {
      const time = new Date(text)
      if (Number.isNaN(time.getTime()) || time <= now) return wrong('value', decideTexts.wrong.time)
      return { kind: 'status', status: 'ignored', ignore_until: { time: time.toISOString() } }
    }
    case 'count':
    case 'users': {
      const count = wholeOf(text, 1_000_000_000)
      if (count === null) return wrong('value', decideTexts.wrong.count)
      const within = window.trim() === '' ? undefined : wholeOf(window, 7 * 24 * 60)
      if (within === null) return wrong('window', decideTexts.wrong.window)
      return { kind: 'status', status: 'ignored', ignore_until: { [ask]: count, window: within } }
    }
  }
}

/** The initial value of the field. */
export function initialFieldValue(ask: Ask, release: string | null, now: Date): string {
  if (ask === 'release') return release ?? ''
  if (ask === 'time') return localMinute(new Date(now.getTime() + 7 * 86_400_000))
  return ask === 'commit' ? '' : ask === 'count' ? '100' : '10'
}

const resolve = (resolution: Resolution): Decided => ({ kind: 'status', status: 'resolved', resolution })
const wrong = (field: 'value' | 'window', error: string): Decided => ({ field, error })

function wholeOf(text: string, max: number): number | null {
  const digits = text.replaceAll(/[\s,]/g, '')
  const number = Number(digits)
  return /^\d{1,10}$/.test(digits) && number >= 1 && number <= max ? number : null
}

/** `2026-11-20T14:30` in the local time zone, the format of the field. */
function localMinute(time: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}`
}
