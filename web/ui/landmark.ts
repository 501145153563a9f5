/** The container of floating parts: inside a landmark of the page, for screen readers. */
export const landmark = (): HTMLElement => document.getElementById('main') ?? document.body
