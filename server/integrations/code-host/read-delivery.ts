import { ZodError } from 'zod'
import { invalid } from '../../platform/kernel/errors.ts'
import type { Provider } from './code-host.api.ts'
import type { HostEvent } from './vendor.ts'
import { findVendor } from './vendors.ts'

export type PackedDelivery = { readonly provider: Provider; readonly event: string; readonly body: Uint8Array }

/** Reads the payload of a delivery: JSON, or the field `payload` of a form. Pure. @throws AppError invalid */
export function readDelivery({ provider, event, body }: PackedDelivery): HostEvent {
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
    const json = text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text
    return findVendor(provider).read(event, JSON.parse(json))
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('The payload is not JSON.')
    if (error instanceof ZodError)
      throw invalid(`The payload lacks ${error.issues[0]?.path.join('.') ?? 'a field'}, or it has another form.`)
    throw error
  }
}
