/** Texts of the page for addresses that do not exist, which is loaded with it. */
export const notFoundTexts = {
  title: 'This page does not exist',
  more: 'Check the address. The page may have been deleted.',
} as const
