// Sets the chosen theme before the page is drawn; without a choice the system decides.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // a page that is opened as a file may have no storage
}
