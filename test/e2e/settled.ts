import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { z } from 'zod'

/**
 * Waits until a page has stopped moving. Every check of a page that does not wait for one certain thing needs this
 * first: axe, screenshots, measurements, the focus, and "this is not there". An earlier check sees rows that are dimmed
 * while a list loads, or text that is half faded in, on some machines and some days.
 */

/** How long nothing may happen. React needs a few tasks after a response, far less than this. */
const QUIET_MS = 100
const POLL_MS = 20
/** A body that the page does not read is never reported as finished: after this time the response counts as its end. */
const BODY_MS = 1_000

/** Requests under way, with the time of their response. */
type Requests = { readonly open: Map<Request, number | null>; lastEndMs: number }
const requestsOf = new WeakMap<Page, Requests>()

/** Call it once per context, before its first page. */
export async function watchContext(context: BrowserContext): Promise<void> {
  context.on('page', watchRequests)
  // A string: it runs in the page. It takes the clock before a test can replace it by one that stands still.
  await context.addInitScript(`(() => {
    const now = performance.now.bind(performance)
    let lastChangeMs = now()
    new MutationObserver(() => { lastChangeMs = now() })
      .observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    Object.defineProperty(window, '__quietForMs', { value: () => now() - lastChangeMs })
  })()`)
}

/** The live stream never ends and is left out. */
function watchRequests(page: Page): void {
  const requests: Requests = { open: new Map(), lastEndMs: performance.now() }
  requestsOf.set(page, requests)
  page.on('request', (request) => {
    // A new document ends the requests of the one before, and not all of those ends are reported.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) requests.open.clear()
    if (request.resourceType() !== 'eventsource') requests.open.set(request, null)
  })
  page.on('response', (response) => {
    if (requests.open.has(response.request())) requests.open.set(response.request(), performance.now())
  })
  const end = (request: Request): void => {
    if (requests.open.delete(request)) requests.lastEndMs = performance.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
}

/** A check that was disturbed is repeated, but not forever: a page that moves at every check has a reason. */
const MAX_LOOKS = 5

const State = z.object({ quietForMs: z.number(), moving: z.string().nullable() })

/** In the page: for how long nothing has changed, and what is still moving. */
const READ_STATE = `(() => {
  const show = (element) => element.outerHTML.slice(0, 120)
  const busy = document.querySelector('[aria-busy="true"]')
  const animation = document.getAnimations().find((one) =>
    one.playState === 'running' && one.effect !== null && one.effect.getComputedTiming().endTime !== Infinity)
  const image = [...document.images].find((one) => !one.complete && one.loading !== 'lazy')
  const moving =
    document.readyState !== 'complete' ? 'the document is ' + document.readyState
    : busy !== null ? 'aria-busy: ' + show(busy)
    : animation !== undefined ? 'an animation of ' + (animation.effect.target === null ? 'nothing' : show(animation.effect.target))
    : document.fonts.status !== 'loaded' ? 'fonts are loading'
    : image !== undefined ? 'an image is loading: ' + show(image)
    : null
  return { quietForMs: window.__quietForMs?.() ?? 0, moving }
})()`

/**
 * Waits until no request is under way, nothing is busy, animated or loading, and nothing has changed for a moment.
 * Animations without an end are left out.
 * @throws Error when the page keeps moving, with what moved last
 */
export async function settled(page: Page, timeoutMs: number): Promise<void> {
  const requests = requestsOf.get(page)
  if (requests === undefined) throw new Error('the page was not opened by testBrowser')
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const moving = await whatMoves(page, requests)
    if (moving === null) return
    if (performance.now() > deadline) throw new Error(`the page did not settle in ${timeoutMs} ms: ${moving.what}`)
    // Each look takes processor time of the page: none before it can have been quiet for long enough.
    await sleep(Math.max(moving.forMs ?? 0, POLL_MS))
  }
}

/** A moving thing, and for how long at least it is not quiet, where that is known. */
type Moving = { readonly what: string; readonly forMs?: number }

/** Requests without a response, or whose body may still arrive. */
function underWay({ open }: Requests): Request[] {
  return [...open].flatMap(([request, answeredMs]) =>
    answeredMs === null || performance.now() - answeredMs < BODY_MS ? [request] : [],
  )
}

async function whatMoves(page: Page, requests: Requests): Promise<Moving | null> {
  const [request] = underWay(requests)
  if (request !== undefined) return { what: `a request is under way: ${request.method()} ${request.url()}` }
  const restMs = QUIET_MS - (performance.now() - requests.lastEndMs)
  if (restMs > 0) return { what: 'a request ended a moment ago', forMs: restMs }
  try {
    const { quietForMs, moving } = State.parse(await page.evaluate(READ_STATE))
    if (moving !== null) return { what: moving }
    if (quietForMs < QUIET_MS) return { what: 'the document changed a moment ago', forMs: QUIET_MS - quietForMs }
  } catch (error) {
    // The page navigated meanwhile.
    if (error instanceof Error && /context was destroyed|navigat/i.test(error.message)) return { what: 'a navigation' }
    throw error
  }
  if (underWay(requests).length > 0) return { what: 'a request began' }
  return performance.now() - requests.lastEndMs < QUIET_MS ? { what: 'a request ended a moment ago' } : null
}

/**
 * Runs a check on a page that stands still, and again when it moved meanwhile: a poll or a live message can come at any
 * time.
 */
export async function lookAt<T>(page: Page, timeoutMs: number, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    await settled(page, timeoutMs)
    const startedMs = performance.now()
    const seen = await look()
    if (looks === MAX_LOOKS || (await wasQuietSince(page, startedMs))) return seen
  }
}

async function wasQuietSince(page: Page, startedMs: number): Promise<boolean> {
  const requests = requestsOf.get(page)
  if (requests === undefined || underWay(requests).length > 0 || requests.lastEndMs > startedMs) return false
  const { quietForMs } = State.parse(await page.evaluate(READ_STATE))
  return quietForMs >= performance.now() - startedMs
}
