import type { Event, Exception } from './event.api.ts'

/** Application not responding, with all names that SDKs use for it. */

const ANR_MECHANISMS = new Set(['anr', 'appexitinfo', 'historicalappexitinfo', 'apphang', 'mxhangdiagnostic'])
const ANR_TYPE = /(?:^|[.$])ApplicationNotResponding$|^App Hang/

export function isAnr(event: Pick<Event, 'exceptions'>): boolean {
  return event.exceptions.some(isAnrException)
}

export function isAnrException({ type, mechanism }: Exception): boolean {
  if (type !== null && ANR_TYPE.test(type)) return true
  const mechanismType = mechanism?.type
  if (mechanismType === null || mechanismType === undefined) return false
  return ANR_MECHANISMS.has(mechanismType.toLowerCase().replaceAll('_', ''))
}

/** An unhandled crash below the language runtime: a signal, a Mach exception or a minidump. */
export function isNativeCrash(event: Pick<Event, 'exceptions' | 'is_unhandled'>): boolean {
  return (
    event.is_unhandled && event.exceptions.some(({ mechanism }) => mechanism !== null && isNativeMechanism(mechanism))
  )
}

function isNativeMechanism(mechanism: NonNullable<Exception['mechanism']>): boolean {
  const type = mechanism.type?.toLowerCase().replaceAll('_', '') ?? ''
  if (
    ['signalhandler', 'minidump', 'mach', 'signal', 'tombstone', 'tombstonemerged', 'mxcrashdiagnostic'].includes(type)
  ) {
    return true
  }
  return mechanism.meta !== null && ('signal' in mechanism.meta || 'mach_exception' in mechanism.meta)
}
