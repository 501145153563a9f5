import { deviceClass } from './device-class.ts'
import type { Event } from './event.api.ts'
import { finite } from './span.ts'
import { deviceName, osName, type Origin } from './transaction.ts'

/** The origin of an error event, in the same words as the origin of a transaction. */
export function originOfEvent({ release, environment, contexts }: Event): Origin {
  const { os, device } = contexts
  const name = os?.['name']
  return {
    release: release ?? '',
    environment,
    os: osName(typeof name === 'string' ? name : null),
    deviceClass: deviceClass(finite(device?.['memory_size']), finite(device?.['processor_count'])),
    device: deviceName(device?.['model'], device?.['family']),
  }
}
