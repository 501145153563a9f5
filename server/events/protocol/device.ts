import { browserMemory, deviceClass, type DeviceClass } from './device-signals.ts'
import { isRecord } from './json.ts'
import { finite } from './span.ts'
import { tidy } from './strings.ts'
import { osName } from './transaction.ts'

/** The device as it is counted; empty when unknown. */
export type Device = {
  /** Name of the operating system, without version. */
  readonly os: string
  /** The model, else the family. */
  readonly device: string
  readonly device_class: DeviceClass
}

export const UNKNOWN_DEVICE: Device = { os: '', device: '', device_class: '' }

const MAX_MODEL = 64

/** Reads the contexts of an event or transaction. */
export function readDevice(contexts: Readonly<Record<string, unknown>>): Device {
  const os = isRecord(contexts['os']) ? contexts['os']['name'] : null
  const device = isRecord(contexts['device']) ? contexts['device'] : {}
  return {
    os: osName(typeof os === 'string' ? os : null),
    device: modelOf(device['model']) || modelOf(device['family']),
    device_class: deviceClass(
      finite(device['memory_size']) ?? browserMemory(device['deviceMemory']),
      finite(device['processor_count']),
    ),
  }
}

const modelOf = (name: unknown): string => (typeof name === 'string' ? tidy(name, MAX_MODEL).trim() : '')
