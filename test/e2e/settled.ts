import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { z } from 'zod'

/**
 * Waits until a page has stopped moving. Every look at a page that does not wait for one certain thing needs this first:
 * axe, screenshots, measurements, the focus, and "this is not there". A look taken earlier sees rows that are dimmed
 * while a list loads, or text that is half faded in, on some machines and some days.
 */

/** How long nothing may have happened. Between an answer and what React makes of it lie a few tasks, far less than this. */
const QUIET_MS = 100
const POLL_MS = 20
/** A body that the page does not read is never reported as finished: the answer is taken for the end after this time. */
const BODY_MS = 1_000

/** Requests under way, with the moment at which they were answered. */
type Requests = { readonly open: Map<Request, number | null>; lastEndMs: number }
const requestsOf = new WeakMap<Page, Requests>()

/** Call once per context, before its first page. */
export async function watchContext(context: BrowserContext): Promise<void> {
  context.on('page', watchRequests)
  // A string: it runs in the page. The clock is taken before a test can replace it by one that stands still.
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

/** Looks that were disturbed are taken again, but not for ever: a page that moves at every look has a reason for it. */
const MAX_LOOKS = 5

const State = z.object({ quietForMs: z.number(), moving: z.string().nullable() })

/** In the page: for how long nothing has changed, and what says of itself that it is still moving. */
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
 * @throws when the page keeps moving, with what moved last
 */
export async function settled(page: Page, timeoutMs: number): Promise<void> {
  const requests = requestsOf.get(page)
  if (requests === undefined) throw new Error('the page was not opened by testBrowser')
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const moving = await whatMoves(page, requests)
    if (moving === null) return
    if (performance.now() > deadline) throw new Error(`the page did not settle in ${timeoutMs} ms: ${moving}`)
    await sleep(POLL_MS)
  }
}

/** Requests that were not answered yet, or whose body may still come. */
function underWay({ open }: Requests): Request[] {
  return [...open].flatMap(([request, answeredMs]) =>
    answeredMs === null || performance.now() - answeredMs < BODY_MS ? [request] : [],
  )
}

async function whatMoves(page: Page, requests: Requests): Promise<string | null> {
  const [request] = underWay(requests)
  if (request !== undefined) return `a request is under way: ${request.method()} ${request.url()}`
  try {
    const { quietForMs, moving } = State.parse(await page.evaluate(READ_STATE))
    if (moving !== null) return moving
    if (quietForMs < QUIET_MS) return 'the document changed a moment ago'
  } catch (error) {
    // The page went elsewhere while it was asked.
    if (error instanceof Error && /context was destroyed|navigat/i.test(error.message)) return 'a navigation'
    throw error
  }
  if (underWay(requests).length > 0) return 'a request began'
  return performance.now() - requests.lastEndMs < QUIET_MS ? 'a request ended a moment ago' : null
}

/** Looks at a page that stands still, and again when it moved meanwhile: a poll or a live message can come at any time. */
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
