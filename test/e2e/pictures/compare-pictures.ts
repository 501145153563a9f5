import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { z } from 'zod'
import { findChromium } from '../chromium.ts'

/**
 * `npm run pictures -- compare <before> <after> [<differences>]`: prints which pictures differ and by how much, and
 * with a folder for differences draws each pair beside each other with the differing pixels in red. The comparison runs
 * in Chromium, which decodes PNG.
 */

const Compared = z.object({
  differing: z.number(),
  share: z.number(),
  top: z.number(),
  bottom: z.number(),
  drawn: z.string().nullable(),
})

/** Tolerance of a channel: antialiasing of the same line on two machines. */
const TOLERANCE = 8

const COMPARE = `async ({ before, after, tolerance, draw }) => {
  const load = async (data) => createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob())
  const [one, two] = await Promise.all([load(before), load(after)])
  const width = Math.max(one.width, two.width), height = Math.max(one.height, two.height)
  const pixelsOf = (image) => {
    const canvas = new OffscreenCanvas(width, height)
    const context = canvas.getContext('2d', { willReadFrequently: true })
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, width, height)
  }
  const a = pixelsOf(one), b = pixelsOf(two)
  let differing = 0, top = -1, bottom = -1
  for (let at = 0; at < a.data.length; at += 4) {
    if (Math.max(
      Math.abs(a.data[at] - b.data[at]), Math.abs(a.data[at + 1] - b.data[at + 1]),
      Math.abs(a.data[at + 2] - b.data[at + 2]), Math.abs(a.data[at + 3] - b.data[at + 3])) <= tolerance) continue
    differing++
    const row = Math.floor(at / 4 / width)
    if (top < 0) top = row
    bottom = row
    if (draw) a.data.set([221, 40, 40, 255], at)
  }
  let drawn = null
  if (draw && differing > 0) {
    const canvas = new OffscreenCanvas(width * 3, height)
    const context = canvas.getContext('2d')
    context.drawImage(one, 0, 0)
    context.drawImage(two, width, 0)
    context.putImageData(a, width * 2, 0)
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer())
    let text = ''
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768))
    drawn = btoa(text)
  }
  return { differing, share: differing / (width * height), top, bottom, drawn }
}`

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const picturesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.png'))
    .sort()

async function comparePictures(before: string, after: string, differences: string | undefined): Promise<void> {
  const names = [...new Set([...picturesIn(before), ...picturesIn(after)])].sort()
  const { executablePath, env } = await findChromium()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'], env })
  let same = 0
  try {
    const page = await browser.newPage()
    for (const name of names) {
      const [one, two] = [join(before, name), join(after, name)]
      if (!existsSync(one) || !existsSync(two)) {
        print(`${existsSync(one) ? 'gone   ' : 'new    '}          ${name}`)
        continue
      }
      const [a, b] = [readFileSync(one), readFileSync(two)]
      const input = {
        before: a.toString('base64'),
        after: b.toString('base64'),
        tolerance: TOLERANCE,
        draw: differences !== undefined,
      }
      const found = a.equals(b) ? null : Compared.parse(await page.evaluate(`(${COMPARE})(${JSON.stringify(input)})`))
      if (found === null || found.differing === 0) {
        same++
        continue
      }
      print(
        `${`${(found.share * 100).toFixed(3)} %`.padStart(9)} ${String(found.differing).padStart(8)} px  ${name}  rows ${found.top}–${found.bottom}`,
      )
      if (differences === undefined || found.drawn === null) continue
      mkdirSync(differences, { recursive: true })
      writeFileSync(join(differences, name), Buffer.from(found.drawn, 'base64'))
    }
  } finally {
    await browser.close()
  }
  print(`${same} of ${names.length} pictures are the same`)
}

const [before, after, differences] = process.argv.slice(2)
if (before === undefined || after === undefined) throw new Error('compare takes two folders')
await comparePictures(before, after, differences)
