/** Where floating parts are put: inside the page's landmark, so that jumping by landmarks finds them too. */
export const landmark = (): HTMLElement => document.getElementById('main') ?? document.body
