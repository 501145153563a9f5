import type { Page } from 'playwright-core'
import { z } from 'zod'
import { RUNS_LONG } from '../kit/long.ts'

/** Faults in the layout of a page: overlapping texts, words broken in two, wrapped controls, clipped texts. */

const Faults = z.array(z.string())

/** In the page. Sticky and fixed parts lie above others on purpose, and screen-reader texts are not shown. */
const READ_FAULTS = `(() => {
  const faults = []
  const name = (text) => JSON.stringify(text.trim().replace(/\\s+/g, ' ').slice(0, 60))
  const skipped = new Map()
  const isSkipped = (element) => {
    if (element === null || element === document.documentElement) return false
    if (skipped.has(element)) return skipped.get(element)
    const style = getComputedStyle(element)
    const is = style.visibility === 'hidden' || style.clipPath !== 'none' || style.opacity === '0' ||
      style.position === 'fixed' || element.matches('[role=tooltip], [data-toast], select, textarea, style, script') ||
      (style.position === 'sticky' && !element.matches('aside')) || isSkipped(element.parentElement)
    skipped.set(element, is)
    return is
  }
  const clips = new Map()
  const clipOf = (element) => {
    if (element === null) return { left: -1e6, right: 1e6, top: -1e6, bottom: 1e6 }
    if (clips.has(element)) return clips.get(element)
    const outer = clipOf(element.parentElement)
    let clip = outer
    if (getComputedStyle(element).overflow !== 'visible' && element !== document.body && element !== document.documentElement) {
      const box = element.getBoundingClientRect()
      clip = {
        left: Math.max(outer.left, box.left), right: Math.min(outer.right, box.right),
        top: Math.max(outer.top, box.top), bottom: Math.min(outer.bottom, box.bottom),
      }
    }
    clips.set(element, clip)
    return clip
  }
  // An ellipsis, or a place that scrolls: by keys, or because its links take the focus.
  const isMeant = (element) => {
    if (element.closest('[tabindex="0"], table, pre, [role=region]') !== null) return true
    for (let one = element; one !== null && one !== document.body; one = one.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(one)
      if (textOverflow === 'ellipsis') return true
      if (overflowX === 'auto' || overflowX === 'scroll') return element.closest('a, button, [role=tab]') !== null
      if (overflowX !== 'visible') return false
    }
    return false
  }
  const roomOf = (element) => {
    let block = element
    while (getComputedStyle(block).display.startsWith('inline')) block = block.parentElement
    const { paddingLeft, paddingRight } = getComputedStyle(block)
    return block.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  }
  const linesOf = (range) => {
    const lines = []
    for (const rect of range.getClientRects()) {
      if (rect.width < 1) continue
      const last = lines.at(-1)
      if (last !== undefined && Math.abs(last.top - rect.top) < 3) {
        last.right = Math.max(last.right, rect.right)
        last.left = Math.min(last.left, rect.left)
      } else lines.push({ left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom })
    }
    return lines
  }
  const seen = []
  const range = document.createRange()
  const walker = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (node.nodeValue.trim() === '' || isSkipped(element)) continue
    if (!element.checkVisibility()) continue
    range.selectNodeContents(node)
    const lines = linesOf(range)
    if (lines.length === 0) continue
    if (lines.length > 1) {
      if (element.closest('time, th[scope=col], button[data-look], [data-one-line]') !== null)
        faults.push('wrapped: ' + name(node.nodeValue))
      for (const { 0: word, index } of node.nodeValue.matchAll(/\\p{L}{2,24}/gu)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        // Part of a name without a space, or a word wider than its place: these may break anywhere.
        const whole = /[^\\s]*$/.exec(node.nodeValue.slice(0, index))[0].length + /^[^\\s]*/.exec(node.nodeValue.slice(index))[0].length
        const parts = linesOf(range)
        const width = parts.reduce((sum, { left, right }) => sum + right - left, 0)
        if (whole <= 28 && parts.length > 1 && width <= roomOf(element)) faults.push('broken word: ' + name(word) + ' in ' + name(node.nodeValue))
      }
    }
    const clip = clipOf(element)
    for (const line of lines) {
      const box = {
        left: Math.max(line.left, clip.left), right: Math.min(line.right, clip.right),
        top: Math.max(line.top, clip.top), bottom: Math.min(line.bottom, clip.bottom), node,
      }
      if (box.right - box.left > 2 && box.bottom - box.top > 2) seen.push(box)
      if (line.right - box.right > 2 && !isMeant(element)) faults.push('clipped: ' + name(node.nodeValue))
    }
  }
  seen.sort((a, b) => a.top - b.top)
  for (let i = 0; i < seen.length; i++) {
    const a = seen[i]
    for (let j = i + 1; j < seen.length && seen[j].top < a.bottom - 3; j++) {
      const b = seen[j]
      if (a.node !== b.node && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
        faults.push('overlap: ' + name(a.node.nodeValue) + ' and ' + name(b.node.nodeValue))
    }
  }
  return [...new Set(faults)]
})()`

/** The widths at which the layout of pages is measured. `npm test` has the phone and a desktop; `npm run test:long` also what is between and beyond them. */
export const LAYOUT_WIDTHS: readonly number[] = RUNS_LONG ? [390, 768, 1024, 1200, 1280, 1440, 1920] : [390, 1440]

/** After a resize: frames until nothing has changed for a moment, then the faults in both themes. */
const READ_FAULTS_OF_THEMES = `(async () => {
  const root = document.documentElement
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  let quiet = 0
  for (let frames = 0; quiet < 3 && frames < 120; frames++) {
    await frame()
    quiet = (window.__quietForMs?.() ?? 1_000) > 40 && document.querySelector('[aria-busy="true"]') === null ? quiet + 1 : 0
  }
  const before = root.getAttribute('data-theme')
  const faults = []
  for (const theme of ['light', 'dark']) {
    root.setAttribute('data-theme', theme)
    faults.push(...${READ_FAULTS})
  }
  if (before === null) root.removeAttribute('data-theme')
  else root.setAttribute('data-theme', before)
  if (root.scrollWidth > root.clientWidth) faults.push('scrolls sideways: ' + root.scrollWidth)
  return [...new Set(faults)]
})()`

/**
 * Parts that overlap, break, wrap, are cut off or scroll sideways after a resize of a settled page, in both themes.
 */
export async function layoutFaultsAt(page: Page, where: string): Promise<string[]> {
  const faults = Faults.parse(await page.evaluate(READ_FAULTS_OF_THEMES))
  return faults.map((fault) => `${where}: ${fault}`)
}
