import { createHmac, timingSafeEqual } from 'node:crypto'
import Mux from '@mux/mux-node'
import { verifyWebhookSignature } from 'hook0-client'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import type { ReceivedRequest } from './receiver.ts'

/** A request as its receiver verifies it: the bytes of the body as they arrived. */
export type SignedRequest = Pick<ReceivedRequest, 'headers' | 'body'>

type Verifier = (secret: string, request: SignedRequest) => boolean | Promise<boolean>

const headerOf = ({ headers }: SignedRequest, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}
const signatureOf = (request: SignedRequest): string => headerOf(request, 'svc-signature')

const TOLERANCE_SECONDS = 300
const mux = new Mux({ tokenId: 'unused', tokenSecret: 'unused' })

async function accepts(verify: () => unknown): Promise<boolean> {
  try {
    await verify()
    return true
  } catch {
    return false
  }
}

/**
 * Independent programs that verify our signature on the clock of this machine. Stripe and Mux accept any future timestamp,
 * hook0 decodes the hexadecimal digits and takes the last signature of several.
 */
export const VERIFIERS = {
  stripe: (secret, request) =>
    accepts(() => Stripe.webhooks.constructEvent(request.body, signatureOf(request), secret, TOLERANCE_SECONDS)),
  mux: (secret, request) =>
    accepts(() =>
      mux.webhooks.verifySignature(request.body.toString(), { 'mux-signature': signatureOf(request) }, secret),
    ),
  hook0: (secret, request) =>
    accepts(() => {
      const signature = signatureOf(request).replaceAll('v1=', 'v0=')
      const result = verifyWebhookSignature(signature, request.body, new Headers(), secret, TOLERANCE_SECONDS)
      if (result !== true) throw new Error('refused')
    }),
  /** Ours: ±300 seconds, the header as the specification has it and nothing else. */
  strict: (secret, request) => {
    const [, timestamp, given] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(signatureOf(request)) ?? []
    if (timestamp === undefined || given === undefined) return false
    if (headerOf(request, 'svc-timestamp') !== timestamp) return false
    if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(request.body).digest()
    return given
      .slice(1)
      .split(',')
      .some((part) => timingSafeEqual(Buffer.from(part.slice('v1='.length), 'hex'), expected))
  },
} as const satisfies Record<string, Verifier>

export type VerifierName = keyof typeof VERIFIERS
export const VERIFIER_NAMES = ['stripe', 'mux', 'hook0', 'strict'] as const satisfies readonly VerifierName[]

/** The names of those that accept the request. */
export async function acceptedBy(secret: string, request: SignedRequest): Promise<VerifierName[]> {
  const accepting: VerifierName[] = []
  for (const name of VERIFIER_NAMES) if (await VERIFIERS[name](secret, request)) accepting.push(name)
  return accepting
}

/** The library of Standard Webhooks, on the headers that endpoints may ask for in addition. */
export const acceptedByStandard = (secret: string, request: SignedRequest): Promise<boolean> =>
  accepts(() =>
    new Webhook(secret).verify(request.body, {
      'webhook-id': headerOf(request, 'webhook-id'),
      'webhook-timestamp': headerOf(request, 'webhook-timestamp'),
      'webhook-signature': headerOf(request, 'webhook-signature'),
    }),
  )
