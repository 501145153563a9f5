// The form that showReportDialog() of browser SDKs opens on a page of any site (report-dialog.ts). It runs there: it is in a
// shadow tree, which the styles of the page do not reach, its own styles need no exception in the page's content policy, and
// every text is set as text.
;((options) => {
  const script = document.currentScript
  if (script === null || document.body === null) return
  const { texts, name, email, lang } = options
  const address = new URL(script.src)
  address.search = new URLSearchParams({ dsn: options.dsn, eventId: options.eventId }).toString()
  address.hash = ''

  const STYLES = `
    :host { all: initial !important; display: block !important; }
    * { box-sizing: border-box; }
    dialog {
      inline-size: min(34rem, calc(100vw - 2rem)); max-block-size: calc(100vh - 2rem); overflow: auto; margin: auto;
      padding: 1.5rem; border: 1px solid #c4c8cf; border-radius: 12px; background: #fff; color: #1c2026;
      font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; text-align: start;
    }
    dialog::backdrop { background: rgb(0 0 0 / 55%); }
    h2 { margin: 0 0 0.5rem; font-size: 1.25rem; line-height: 1.3; }
    p { margin: 0 0 0.5rem; }
    p:empty { display: none; }
    label { display: block; margin-block: 0.75rem 0.25rem; font-weight: 600; }
    input, textarea {
      display: block; inline-size: 100%; padding: 0.5rem 0.625rem; border: 1px solid #767c86; border-radius: 6px;
      background: #fff; color: inherit; font: inherit;
    }
    textarea { min-block-size: 7rem; resize: vertical; }
    button {
      min-block-size: 2.5rem; padding: 0.375rem 1rem; border: 1px solid #767c86; border-radius: 6px; background: #fff;
      color: inherit; font: inherit; font-weight: 600; cursor: pointer;
    }
    button[type='submit'] { border-color: #1d4fd7; background: #1d4fd7; color: #fff; }
    button[disabled] { opacity: 0.6; cursor: default; }
    :focus-visible { outline: 3px solid #6e96ff; outline-offset: 2px; }
    .buttons { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0.75rem; margin-block-start: 1.25rem; }
    [role='alert'] { margin-block-start: 0.75rem; color: #b3121d; font-weight: 600; }
    [hidden] { display: none; }
    @media (prefers-color-scheme: dark) {
      dialog, input, textarea, button { background: #1d2127; color: #eceef1; }
      dialog { border-color: #4a515c; }
      [role='alert'] { color: #ff9a9f; }
    }`

  /** An element with these attributes and children; a text becomes a text node. */
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children)
    return element
  }

  const NAME = 'faultline-report-dialog'
  for (const former of document.querySelectorAll(NAME)) former.remove()
  const host = make(NAME, {})
  const root = host.attachShadow({ mode: 'open' })
  try {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLES)
    root.adoptedStyleSheets = [sheet]
  } catch {
    root.append(make('style', {}, STYLES))
  }

  const field = (tag, id, label, attributes) => {
    const input = make(tag, { id, name: id, ...attributes })
    return { input, parts: [make('label', { for: id }, label), input] }
  }
  const nameField = field('input', 'name', texts.labelName, { type: 'text', autocomplete: 'name', maxlength: '256' })
  const emailField = field('input', 'email', texts.labelEmail, {
    type: 'email',
    autocomplete: 'email',
    maxlength: '256',
  })
  const commentsField = field('textarea', 'comments', texts.labelComments, {
    required: '',
    maxlength: '4096',
    rows: '5',
  })
  nameField.input.value = name
  emailField.input.value = email
  const failure = make('p', { role: 'alert', id: 'failure' })
  const submit = make('button', { type: 'submit' }, texts.labelSubmit)
  const cancel = make('button', { type: 'button' }, texts.labelClose)
  const form = make(
    'form',
    { novalidate: '' },
    make('p', {}, texts.subtitle),
    make('p', {}, texts.subtitle2),
    ...nameField.parts,
    ...emailField.parts,
    ...commentsField.parts,
    failure,
    make('div', { class: 'buttons' }, cancel, submit),
  )
  // In the page from the beginning, so that screen readers read what is put into it.
  const success = make('p', { role: 'status' })
  const done = make('button', { type: 'button' }, texts.labelClose)
  const after = make('div', { class: 'buttons', hidden: '' }, done)
  const dialog = make(
    'dialog',
    { 'aria-labelledby': 'title', 'aria-modal': 'true', dir: 'auto', ...(lang === '' ? {} : { lang }) },
    make('h2', { id: 'title' }, texts.title),
    form,
    success,
    after,
  )
  root.append(dialog)

  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    // The browser gives the focus back to where it was.
    dialog.close?.()
    host.remove()
    window.postMessage('__sentry_reportdialog_closed__', '*')
  }

  const fail = (text, input) => {
    failure.textContent = text
    for (const one of [emailField.input, commentsField.input]) {
      one.setAttribute('aria-invalid', String(one === input))
      if (one === input) one.setAttribute('aria-describedby', 'failure')
      else one.removeAttribute('aria-describedby')
    }
    input?.focus()
  }

  const send = async () => {
    failure.textContent = ''
    if (commentsField.input.value.trim() === '') return fail(texts.errorFormEntry, commentsField.input)
    if (!emailField.input.validity.valid) return fail(texts.errorFormEntry, emailField.input)
    submit.disabled = true
    form.setAttribute('aria-busy', 'true')
    try {
      const answer = await fetch(address, {
        method: 'POST',
        credentials: 'omit',
        body: new URLSearchParams({
          name: nameField.input.value,
          email: emailField.input.value,
          comments: commentsField.input.value,
        }),
      })
      if (answer.ok) {
        form.hidden = true
        after.hidden = false
        success.textContent = texts.successMessage
        done.focus()
      } else fail(answer.status === 400 ? texts.errorFormEntry : texts.errorGeneric, null)
    } catch {
      fail(texts.errorGeneric, null)
    }
    submit.disabled = false
    form.removeAttribute('aria-busy')
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!submit.disabled) void send()
  })
  cancel.addEventListener('click', close)
  done.addEventListener('click', close)
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault()
    close()
  })
  dialog.addEventListener('close', close)
  // Keys in the form are not shortcuts of the page.
  for (const type of ['keydown', 'keypress', 'keyup']) host.addEventListener(type, (event) => event.stopPropagation())
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.preventDefault()
      close()
    }
    if (event.key !== 'Tab') return
    const stops = form.hidden
      ? [done]
      : [nameField.input, emailField.input, commentsField.input, cancel, submit].filter((one) => !one.disabled)
    const [first, last] = [stops[0], stops[stops.length - 1]]
    if (event.shiftKey ? root.activeElement === first : root.activeElement === last) {
      event.preventDefault()
      ;(event.shiftKey ? last : first).focus()
    }
  })

  document.body.append(host)
  // A browser without modal dialogs shows the form as a part of the page.
  if (typeof dialog.showModal === 'function') dialog.showModal()
  else dialog.setAttribute('open', '')
  const isKnown = name !== '' && email !== ''
  ;(isKnown ? commentsField.input : name === '' ? nameField.input : emailField.input).focus()
})(OPTIONS)
