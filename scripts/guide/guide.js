// Pages of the guide can be read without this script: it adds keys, and buttons that copy.
const field = document.querySelector('input[name="q"]')

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const typing = event.target.closest('input, textarea, select')
  if (event.key === '/' && !typing) {
    event.preventDefault()
    field.focus()
    field.select()
  }
  const results = [...document.querySelectorAll('.results a')]
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const at = results.indexOf(document.activeElement)
  if (step === undefined || results.length === 0 || (at < 0 && document.activeElement !== field)) return
  event.preventDefault()
  ;(results[at + step] ?? field).focus()
})

// The contents scroll by themselves where they have a column.
const contents = document.querySelector('#contents')
const here = contents.querySelector('[aria-current]')
if (here !== null && contents.scrollHeight > contents.clientHeight)
  contents.scrollTop = here.offsetTop - contents.clientHeight / 2

async function copy(text) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // Browsers offer the clipboard to https pages only.
  const area = Object.assign(document.createElement('textarea'), { value: text })
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

for (const block of document.querySelectorAll('main pre')) {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await copy(block.textContent.trimEnd())
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2_000)
  })
  const box = Object.assign(document.createElement('div'), { className: 'code' })
  block.replaceWith(box)
  box.append(block, button)
}
