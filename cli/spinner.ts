export const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** How long a picture of the spinner is shown. */
export const frameMs = 100;
