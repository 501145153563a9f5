/** Shows that work is going on: a spinner with seconds on a terminal, plain lines elsewhere. */

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/**
 * @param {string} what begins with a capital, without a full stop
 * @returns {{ done(): void, failed(): void }}
 */
export function showProgress(what) {
  const startedAt = Date.now()
  const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`
  if (!process.stdout.isTTY || process.env.CI) {
    process.stdout.write(`${what} …\n`)
    return {
      done: () => void process.stdout.write(`${what}: done in ${seconds()}\n`),
      failed: () => void process.stdout.write(`${what}: failed after ${seconds()}\n`),
    }
  }
  let frame = 0
  const draw = () => process.stdout.write(`\r\x1b[2K${frames[frame++ % frames.length]} ${what} … ${seconds()}`)
  draw()
  const timer = setInterval(draw, 100)
  const end = (mark, text) => {
    clearInterval(timer)
    process.stdout.write(`\r\x1b[2K${mark} ${text}\n`)
  }
  return {
    done: () => end('✓', `${what}: ${seconds()}`),
    failed: () => end('✗', `${what} failed after ${seconds()}`),
  }
}
